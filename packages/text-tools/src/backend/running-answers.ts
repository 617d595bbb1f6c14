/** Which answers run, and on which model. */
export class RunningAnswers {
  readonly #running = new Map<Promise<void>, string>();

  /** Notes one; the function returned says that it is over. */
  begin(model: string): () => void {
    let end: () => void = () => undefined;
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#running.set(over, model);
    return () => {
      this.#running.delete(over);
      end();
    };
  }

  /** When those that run now are over, of one model or of all. */
  async over(model?: string): Promise<void> {
    const running = [...this.#running].filter(([, of]) => model === undefined || of === model);
    await Promise.all(running.map(([promise]) => promise));
  }
}
