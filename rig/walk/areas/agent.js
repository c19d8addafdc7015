// The pages of agents.

export async function pages({ first }) {
  const agent = async (state) => `/agents/${(await first(`/agents?limit=1&state=${state}`)).id}`;
  return [
    { name: "agents", route: "/agents", path: "/agents" },
    { name: "agents-none", route: "/agents", path: "/agents?state=enrolled" },
    { name: "agent-quarantined", route: "/agents/:id", path: await agent("quarantined") },
    { name: "agent-revoked", route: "/agents/:id", path: await agent("revoked") },
  ];
}

export const tasks = {};
