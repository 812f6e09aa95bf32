// Where a document comes from: a link to the original where a browser may follow it, its path where there is none.

import { el, safeAddress } from "./dom.js";

const FILE = /\.[A-Za-z][A-Za-z0-9]{0,4}(\.gz)?$/;

/** A link to the original, or the path of the file; nothing where neither is known. */
export function source({ url, fields, id }) {
  const original = safeAddress(url);
  if (original)
    return el(
      "a",
      { class: "source", href: original, rel: "noopener noreferrer", target: "_blank", dir: "ltr" },
      readable(original),
      el("span", { class: "unseen" }, " (the original, in a new tab)"),
    );
  const path = pathOf(fields, id);
  return path ? el("span", { class: "source path" }, el("bdi", {}, path)) : null;
}

/** The path of a document: a field says it, or the id is one. */
function pathOf(fields, id) {
  if (typeof fields?.path === "string") return fields.path;
  return FILE.test(id) ? id : "";
}

/** An address as people read it: without its scheme, its letters decoded. */
function readable(address) {
  const { origin, host, pathname } = new URL(address);
  const path = pathname === "/" ? "" : decoded(pathname);
  return origin === location.origin ? path : host + path;
}

function decoded(path) {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
