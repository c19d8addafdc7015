// What each area has to be walked: every file in areas/ exports
//   pages({ first, s })  its pages, as pages.js has them; first(path) is the first of a list of the API
//   tasks                what a person does there, by name, as in tasks.js
import { readdirSync } from "node:fs";

const files = readdirSync(new URL("./areas/", import.meta.url)).filter((f) => f.endsWith(".js")).sort();

export const areas = await Promise.all(files.map((f) => import(`./areas/${f}`)));
