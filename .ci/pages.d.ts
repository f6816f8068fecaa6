// What the scripts that run inside other pages rely on beyond the types of the DOM.

/** Put in front of `snapshot_bootstrap.js` by the server: origin of the app, looks of the marks, style of their chips. */
declare const settings: {
  app: string;
  looks: Record<string, { colour: string; line: string; width: number; distance: number }>;
  chip: string;
  region: { colour: string; line: string; width: number; distance: number };
  expired: boolean;
};

/** An element or a text of a live page, as MiniWoB++ recorded them. */
interface LiveNode {
  tag: string;
  ref?: number;
  left?: number;
  top?: number;
  width?: number;
  height?: number;
  id?: string;
  classes?: string;
  bgColor?: string;
  value?: string | boolean;
  text?: string;
  /** What tells what it does, by the names of recorded pages' attributes. */
  told?: Record<string, string>;
  children: LiveNode[];
}

/** An element of a page of the sample's sites. */
interface SiteNode {
  n?: string;
  t: string[];
  tag: string;
  a: Record<string, string>;
  on: string;
  box: number[] | null;
  c: (SiteNode | string)[];
}

interface Window {
  /** Of `page.js`: the page as agents see it. */
  webnavPage?: {
    read(): LiveNode | null;
    element(number: number): Element | null;
    freePoint(element: Element): { x: number; y: number } | null;
    number(element: Element & { dataset?: DOMStringMap }): number | null;
    at(x: number, y: number): string[];
    fields(): object[];
    numbered(): Iterable<[number: number | string, element: Element]>;
    place(): object;
    restart(): void;
  };
  /** Of `site.js`: whether the site has yet to answer. */
  webnavSite?: { busy(): boolean };
}
