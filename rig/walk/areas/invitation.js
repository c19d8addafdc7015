// The pages of invitations.

export async function pages() {
  return [
    { name: "invitations", route: "/invitations", path: "/invitations?organization=default" },
    { name: "invitation-new", route: "/invitations/new", path: "/invitations/new?scope=default" },
    { name: "accept-invitation", route: "/accept-invitation", path: "/accept-invitation", bare: true },
  ];
}

export const tasks = {};
