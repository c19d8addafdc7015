// The pages of usage and statements.

export async function pages() {
  return [
    { name: "usage", route: "/usage", path: "/usage?scope=default" },
    { name: "statement", route: "/statements", path: "/statements?organization=default" },
  ];
}

export const tasks = {};
