// The pages of update deliveries and of builds of the agent.

export async function pages({ first }) {
  const delivery = await first("/update-deliveries?state=returned");
  return [
    { name: "update-deliveries", route: "/update-deliveries", path: "/update-deliveries" },
    { name: "update-deliveries-none", route: "/update-deliveries", path: "/update-deliveries?state=returning" },
    { name: "update-delivery-new", route: "/update-deliveries/new", path: "/update-deliveries/new" },
    { name: "update-delivery-returned", route: "/update-deliveries/:id", path: `/update-deliveries/${delivery.id}` },
    { name: "agent-builds", route: "/agent-builds", path: "/agent-builds" },
  ];
}

export const tasks = {};
