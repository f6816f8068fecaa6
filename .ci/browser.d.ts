// What the scripts rely on beyond the types of the DOM: the pages are HTML, so selectors find elements of it.
interface ParentNode {
  querySelector<K extends keyof HTMLElementTagNameMap>(selectors: K): HTMLElementTagNameMap[K] | null;
  querySelector(selectors: string): HTMLElement | null;
  querySelectorAll<K extends keyof HTMLElementTagNameMap>(selectors: K): NodeListOf<HTMLElementTagNameMap[K]>;
  querySelectorAll(selectors: string): NodeListOf<HTMLElement>;
}
interface Element {
  closest(selectors: string): HTMLElement | null;
}

/** A part (by its first step), a step, or an element of its page: what a comment is about. */
interface Place {
  part?: number | string | null;
  step?: number | string | null;
  node?: string | null;
}
interface NamedPlace {
  step: number;
  name: string;
  node?: string;
}
interface DocumentEventMap {
  "annotate:place": CustomEvent<{ part?: NamedPlace; step?: NamedPlace; element?: NamedPlace }>;
  "annotate:goto": CustomEvent<Place>;
  "annotate:comments": CustomEvent<{ defect: number | null; deleted: boolean; author: string; text: string }[]>;
  "annotate:answer": CustomEvent<{ defect: number; name: string }>;
}

/** Swagger UI, which the page of the API loads before its script. */
declare const SwaggerUIBundle: { (options: object): unknown; presets: { apis: unknown } };
