package kubehttp

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/intent"
)

// breakGlass writes the event, then has the cluster sign. A certificate that fails to come leaves the event, which says so much.
func (n clusters) breakGlass(ctx context.Context, in *httpapi.OnOf[api.BreakGlass]) (*httpapi.Object[api.AdminKubeconfig], error) {
	_, ref, err := kube.FindCluster(ctx, n.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	account, _ := httpapi.BearerOf(ctx)
	user, valid := kube.User(account), time.Duration(cmp.Or(in.Body.Minutes, 60))*time.Minute
	made, err := n.Once(ctx, func(tx *intent.Tx) (object, job uuid.UUID, err error) {
		return ref.ID(), uuid.Nil, kube.BreakGlass(ctx, tx, ref, user, in.Body.Reason, valid)
	})
	if err != nil {
		return nil, err
	}
	if made.Repeated {
		return nil, httpapi.SecretShown("kubeconfig of cluster", ref.ID())
	}
	c, err := kube.ClusterByID(ctx, n.server.DB().Reader, ref.ID())
	if err != nil {
		return nil, err
	}
	credential, err := n.IssueAdmin(ctx, c, user, valid)
	if err != nil {
		return nil, err
	}
	file, err := kube.Kubeconfig(c, credential)
	if err != nil {
		return nil, err
	}
	return &httpapi.Object[api.AdminKubeconfig]{Body: api.AdminKubeconfig{
		Cluster: c.Name, User: user, Group: kube.Administrators, Reason: strings.TrimSpace(in.Body.Reason), ExpiresAt: credential.Ends, Kubeconfig: string(file),
	}}, nil
}
