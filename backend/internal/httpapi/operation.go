package httpapi

import (
	"context"
	"reflect"

	"kloigos/backend/api"
	"kloigos/backend/internal/kernel/scope"
)

// operationRoutes says which route carries out an operation that the answers of a type name. What the route needs, the
// operation needs too: answers offer nothing that would be refused.
var operationRoutes = map[reflect.Type]map[string]string{
	reflect.TypeFor[api.Host](): {
		"update": "update-host", "probe": "probe-host", "probe-together": "probe-hosts", "measure": "measure-host", "confirm-host-key": "confirm-host-key",
		"set-layout": "set-layout", "relayout": "relayout-host", "initialize": "initialize-host", "refence": "refence-host", "drain": "drain-host",
		"undrain": "undrain-host", "decommission": "decommission-host", "declare-lost": "declare-host-lost", "remove": "remove-host",
	},
	reflect.TypeFor[api.Allocation]():    {"replace-keys": "replace-allocation-keys", "move-network": "move-allocation-network", "deallocate": "deallocate"},
	reflect.TypeFor[api.Job]():           {"retry": "retry-job", "cancel": "cancel-job", "give-up": "give-up-job"},
	reflect.TypeFor[api.Plan]():          {"approve": "approve-plan", "refuse": "refuse-plan"},
	reflect.TypeFor[api.Agent]():         {"revoke": "revoke-agent", "quarantine": "quarantine-agent", "release": "release-agent"},
	reflect.TypeFor[api.Channel]():       {"change": "change-channel", "test": "test-channel", "delete": "delete-channel"},
	reflect.TypeFor[api.DNSZone]():       {"change": "change-dns-zone", "synchronize": "sync-dns-zone", "confirm": "confirm-dns-plan", "delete": "delete-dns-zone"},
	reflect.TypeFor[api.NetworkGrant]():  {"change": "change-network-grant", "delete": "delete-network-grant"},
	reflect.TypeFor[api.DNSZoneGrant]():  {"change": "change-dns-zone-grant", "delete": "delete-dns-zone-grant", "remove-names": "remove-dns-zone-names"},
	reflect.TypeFor[api.SharedDNSZone](): {"name-allocations": "name-in-shared-dns-zone", "stop-naming": "name-in-shared-dns-zone"},
	reflect.TypeFor[api.HostGrant]():     {"change": "change-host-grant", "delete": "delete-host-grant"},
	reflect.TypeFor[api.Network]():       {"change": "change-network", "delete": "delete-network"},
	reflect.TypeFor[api.Drift]():         {"accept": "accept-drift", "repair": "repair-drift"},
	reflect.TypeFor[api.Remedy]():        {"change": "change-remedy", "delete": "delete-remedy"},
	reflect.TypeFor[api.UpdateDelivery](): {
		"pause": "pause-update-delivery", "resume": "resume-update-delivery", "roll_back": "roll-back-update-delivery",
	},
	reflect.TypeFor[api.Cluster](): {
		"kubeconfig": "issue-kubeconfig", "break_glass": "break-glass", "upgrade": "upgrade-cluster", "renew_certificates": "renew-cluster-certificates",
		"snapshot": "take-cluster-snapshot", "add_nodes": "add-cluster-nodes", "delete": "delete-cluster",
	},
	reflect.TypeFor[api.ClusterNode]():      {"remove": "remove-cluster-node", "replace": "replace-cluster-node"},
	reflect.TypeFor[api.ClusterNamespace](): {"change": "change-cluster-namespace", "delete": "delete-cluster-namespace"},
	reflect.TypeFor[api.ClusterSnapshot]():  {"restore": "restore-cluster-snapshot", "delete": "delete-cluster-snapshot"},
	reflect.TypeFor[api.HostedControlPlane](): {
		"upgrade": "upgrade-hosted-control-plane", "sleep": "sleep-hosted-control-plane", "wake": "wake-hosted-control-plane",
		"delete": "delete-hosted-control-plane",
	},
	reflect.TypeFor[api.DNSRecordSet](): {"change": "change-dns-record-set", "delete": "delete-dns-record-set", "adopt": "adopt-dns-record", "check": "check-dns-record-set"},
}

// refusals are the operations of a type that the bearer has no permission for, with what is said of each.
func refusals(t reflect.Type, access scope.Access, at scope.Place) map[string]string {
	refused := map[string]string{}
	for name, id := range operationRoutes[t] {
		route, _ := api.RouteOf(id)
		if !access.At(route.Permission, at) {
			refused[name] = "You do not have the permission " + route.Permission + " here."
		}
	}
	return refused
}

// permitOperations takes back, in an answer about objects of the request's workspace, what the bearer may not do. answer
// points to an object, to a struct with it as Body, or to one with a page of them.
func permitOperations(ctx context.Context, answer any) {
	r := requestOf(ctx)
	if r.bearer == nil {
		return
	}
	v := reflect.ValueOf(answer)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return
	}
	v = v.Elem()
	if body := v.FieldByName("Body"); body.IsValid() && body.Kind() == reflect.Struct {
		v = body
	}
	objects, one := []reflect.Value{v}, v.Type()
	if items := v.FieldByName("Items"); items.IsValid() && items.Kind() == reflect.Slice {
		one, objects = items.Type().Elem(), nil
		for i := range items.Len() {
			objects = append(objects, items.Index(i))
		}
	}
	if operationRoutes[one] == nil {
		return
	}
	refused := refusals(one, r.access, r.at.Place())
	if len(refused) == 0 {
		return
	}
	for _, o := range objects {
		operations, _ := o.FieldByName("Operations").Interface().([]api.Operation)
		for i, op := range operations {
			if why := refused[op.Name]; why != "" {
				operations[i] = api.Operation{Name: op.Name, Prevents: why}
			}
		}
	}
}
