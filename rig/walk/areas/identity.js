// The pages of logins by identity providers, of which the showcase has none: each tells its reason.

export async function pages() {
  return [
    { name: "login-provider-none", route: "/login/:provider", path: "/login/nothing", bare: true, status: 404 },
    { name: "login-provider-start", route: "/login/:provider/start", path: "/login/nothing/start", bare: true, status: 409 },
    { name: "login-provider-back", route: "/login/:provider/callback", path: "/login/nothing/callback?state=s&code=c", bare: true, status: 409 },
  ];
}

export const tasks = {};
