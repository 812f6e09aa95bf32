// Elements made from text. Nothing here, or anywhere on the page, parses a string as markup.

/** An element with attributes (false and null leave one out), listeners (`on: {click}`) and children (strings are text). */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    } else {
      made.setAttribute(name, value === true ? "" : String(value));
    }
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** The element with an id. */
export function byId(id) {
  return document.getElementById(id);
}

/** Attributes of text in some language: which, and a direction by its first letter. */
export function inLanguage(language) {
  const sane = /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/.test(language ?? "");
  return { lang: sane ? language : "", dir: "auto" };
}

/**
 * The address of an original, if a browser can be sent there safely: http and https, or a path beside this page. What
 * only looks like a path (`//elsewhere`, `/\elsewhere`, `javascript:…`) is none.
 */
export function safeAddress(url) {
  if (!url || /^[/\\]{2}|[\\\u0000-\u001f]/.test(url)) return null;
  const isPath = !/^[^/?#]*:/.test(url);
  try {
    const parsed = isPath ? new URL(url, document.baseURI) : new URL(url);
    const followed = isPath ? parsed.origin === location.origin : ["http:", "https:"].includes(parsed.protocol);
    return followed ? parsed.href : null;
  } catch {
    return null;
  }
}
