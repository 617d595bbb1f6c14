import { ToolCallResult } from "@shedkit/tool";

/** A file that cannot be read, or not so: `detail` in a few words, the message for the model. */
export class Failure extends Error {
  readonly detail: string;

  constructor(detail: string, text: string) {
    super(text);
    this.detail = detail;
  }
}

/** A Failure becomes a failed result; the rest is thrown on. */
export async function answering(body: () => Promise<ToolCallResult>): Promise<ToolCallResult> {
  try {
    return await body();
  } catch (error) {
    if (error instanceof Failure) return ToolCallResult.failure(error.detail, error.message);
    throw error;
  }
}
