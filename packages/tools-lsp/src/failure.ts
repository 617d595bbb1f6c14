/** A call that failed as calls may: `detail` in a few words, the message for the model. */
export class Failure extends Error {
  readonly detail: string;

  constructor(detail: string, text: string, options?: ErrorOptions) {
    super(text, options);
    this.detail = detail;
  }
}

/** A server that ended while it was asked: it may be asked again, of a new one. */
export class ServerEnded extends Failure {}

/** A server that did not answer in its time. */
export class ServerSlow extends Failure {}
