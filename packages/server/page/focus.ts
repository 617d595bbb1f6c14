/** The first of what waits for a person: a button, or the field of a question. */
export const WAITING = ".approval :is(button, input):enabled";

/** What was answered goes away, and the focus with it: to the next call that waits, else to where one writes. */
export function focusNext(): void {
  (document.querySelector<HTMLElement>(WAITING) ?? document.querySelector<HTMLElement>("#message"))?.focus();
}
