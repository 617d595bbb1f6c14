/** One thing a store must do. `run` rejects with an Error that says what was wanted and what came. */
export interface StoreCase<S> {
  readonly name: string;
  /** `store` is new and empty; the case may close it. */
  run(store: S): Promise<void>;
}
