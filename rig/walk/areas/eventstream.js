// The pages of event streams. Those that are added here are disabled: nothing is sent.

// stream adds one that sends nothing.
async function stream(s, path, body) {
  const answer = await fetch(`${s.api}/api/v1${path}`, {
    method: "POST", headers: { Authorization: `Bearer ${s.token}`, "Content-Type": "application/json" }, body: JSON.stringify({ ...body, enabled: false }),
  });
  if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()).id;
}

export async function pages({ s }) {
  const own = await stream(s, "/event-streams", { name: "archive", type: "webhook", url: "https://logs.kloigos.example/events", organization: "default" });
  const all = await stream(s, "/installation/event-streams", { name: "siem", type: "syslog", server: "logs.kloigos.example" });
  return [
    { name: "event-streams", route: "/event-streams", path: "/event-streams?organization=default" },
    { name: "event-stream-new", route: "/event-streams/new", path: "/event-streams/new?organization=default" },
    { name: "event-stream-new-syslog", route: "/event-streams/new", path: "/event-streams/new?organization=default&type=syslog" },
    { name: "event-stream", route: "/event-streams/:id", path: `/event-streams/${own}` },
    { name: "event-stream-edit", route: "/event-streams/:id/edit", path: `/event-streams/${own}/edit` },
    { name: "installation-streams", route: "/installation-event-streams", path: "/installation-event-streams" },
    { name: "installation-stream-new", route: "/installation-event-streams/new", path: "/installation-event-streams/new" },
    { name: "installation-stream", route: "/installation-event-streams/:id", path: `/installation-event-streams/${all}` },
    { name: "installation-stream-edit", route: "/installation-event-streams/:id/edit", path: `/installation-event-streams/${all}/edit` },
  ];
}

export const tasks = {};
