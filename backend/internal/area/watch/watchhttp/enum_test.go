package watchhttp

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/watch"
)

// The closed sets of the wire types are those of the rules.
func TestEnums(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		of    any
		field string
		want  []string
	}{
		{api.Channel{}, "Type", watch.Types()},
		{api.CreateChannel{}, "Type", watch.Types()},
		{api.ChannelFilter{}, "Type", watch.Types()},
		{api.Channel{}, "TLS", watch.TLSModes()},
		{api.CreateChannel{}, "TLS", watch.TLSModes()},
		{api.ChangeChannel{}, "TLS", watch.TLSModes()},
		{api.ChannelDelivery{}, "Outcome", watch.Outcomes()},
		{api.ChannelDeliveryFilter{}, "Outcome", watch.Outcomes()},
		{api.ChannelDelivery{}, "Kind", []string{watch.TestMessage, watch.ConditionMessage}},
	} {
		field, ok := reflect.TypeOf(test.of).FieldByName(test.field)
		if got := strings.Split(field.Tag.Get("enum"), ","); !ok || !slices.Equal(got, test.want) {
			t.Errorf("%T.%s may be %q, want %q", test.of, test.field, got, test.want)
		}
	}
}
