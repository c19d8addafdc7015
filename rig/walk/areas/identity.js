// The pages of identity providers, and of logins by one that is not there: each tells its reason.

// provider adds one that is disabled, so that the login page stays as it is for everybody else.
async function provider(s, path, name) {
  const answer = await fetch(`${s.api}/api/v1${path}`, {
    method: "POST", headers: { Authorization: `Bearer ${s.token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ name, issuer: "https://login.example.org", client_id: "kloigos", state: "disabled", ...(path === "/identity-providers" && { organization: "default" }) }),
  });
  if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()).id;
}

export async function pages({ s }) {
  const own = await provider(s, "/identity-providers", "staff"), all = await provider(s, "/installation/identity-providers", "operators");
  return [
    { name: "identity-providers", route: "/identity-providers", path: "/identity-providers?organization=default" },
    { name: "identity-provider-new", route: "/identity-providers/new", path: "/identity-providers/new?organization=default" },
    { name: "identity-provider", route: "/identity-providers/:id", path: `/identity-providers/${own}` },
    { name: "identity-provider-edit", route: "/identity-providers/:id/edit", path: `/identity-providers/${own}/edit` },
    { name: "installation-providers", route: "/installation-identity-providers", path: "/installation-identity-providers" },
    { name: "installation-provider-new", route: "/installation-identity-providers/new", path: "/installation-identity-providers/new" },
    { name: "installation-provider", route: "/installation-identity-providers/:id", path: `/installation-identity-providers/${all}` },
    { name: "installation-provider-edit", route: "/installation-identity-providers/:id/edit", path: `/installation-identity-providers/${all}/edit` },
    { name: "login-provider-none", route: "/login/:provider", path: "/login/nothing", bare: true, status: 404 },
    { name: "login-provider-start", route: "/login/:provider/start", path: "/login/nothing/start", bare: true, status: 409 },
    { name: "login-provider-back", route: "/login/:provider/callback", path: "/login/nothing/callback?state=s&code=c", bare: true, status: 409 },
  ];
}

export const tasks = {};
