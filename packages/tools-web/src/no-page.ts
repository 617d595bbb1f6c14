/** What came of a request that gave no page. */
export class NoPage extends Error {
  readonly detail: string;

  constructor(detail: string, text: string) {
    super(text);
    this.detail = detail;
  }
}
