// The pages of deliveries of agents, playbooks and releases, and of builds of the agent.

export async function pages({ first }) {
  const delivery = await first("/update-deliveries?state=returned");
  const ofRelease = await first("/release-deliveries?state=halted");
  const ofPlaybook = await first("/playbook-deliveries?state=returned");
  return [
    { name: "update-deliveries", route: "/update-deliveries", path: "/update-deliveries" },
    { name: "update-deliveries-none", route: "/update-deliveries", path: "/update-deliveries?state=returning" },
    { name: "update-delivery-new", route: "/update-deliveries/new", path: "/update-deliveries/new" },
    { name: "update-delivery-returned", route: "/update-deliveries/:id", path: `/update-deliveries/${delivery.id}` },
    { name: "release-deliveries", route: "/release-deliveries", path: "/release-deliveries" },
    { name: "release-deliveries-none", route: "/release-deliveries", path: "/release-deliveries?state=returning" },
    { name: "release-delivery-new", route: "/release-deliveries/new", path: "/release-deliveries/new" },
    { name: "release-delivery-halted", route: "/release-deliveries/:id", path: `/release-deliveries/${ofRelease.id}` },
    { name: "playbook-deliveries", route: "/playbook-deliveries", path: "/playbook-deliveries" },
    { name: "playbook-deliveries-none", route: "/playbook-deliveries", path: "/playbook-deliveries?state=returning" },
    { name: "playbook-delivery-new", route: "/playbook-deliveries/new", path: "/playbook-deliveries/new?playbook=unit_allocate&version=1" },
    { name: "playbook-delivery-returned", route: "/playbook-deliveries/:id", path: `/playbook-deliveries/${ofPlaybook.id}` },
    { name: "agent-builds", route: "/agent-builds", path: "/agent-builds" },
  ];
}

export const tasks = {};
