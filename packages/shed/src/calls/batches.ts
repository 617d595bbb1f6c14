import { toToolError } from "@shedkit/tool";
import type { Access } from "../access.js";
import type { Offer } from "../offer.js";
import type { ManagerOptions, RunOptions } from "../options.js";
import type { ToolCallOutcome, ToolCallRequest, ToolCallWorkflow } from "../types.js";
import type { Attempts } from "./attempts.js";
import { effectOf } from "./effect.js";
import { failedOutcome } from "./outcomes.js";
import { refuseAll, runStages } from "./stages.js";
import { buildWorkflow, NO_EFFECT } from "./workflow.js";

/** How the calls of a batch run: ordered, each only where the model may make it. */
export class Batches {
  readonly #attempts: Attempts;
  readonly #offer: Offer;
  readonly #access: Access;
  readonly #ordering: boolean;

  constructor(attempts: Attempts, offer: Offer, access: Access, { ordering = false }: ManagerOptions) {
    this.#attempts = attempts;
    this.#offer = offer;
    this.#access = access;
    this.#ordering = ordering;
  }

  /** Throws ToolError `invalidArguments`; see {@link buildWorkflow}. */
  order(requests: readonly ToolCallRequest[]): ToolCallWorkflow {
    const prepare = (request: ToolCallRequest) => this.#attempts.prepare(request);
    const effect = (request: ToolCallRequest) => {
      const target = this.#targetOf(request);
      return target ? effectOf(target, this.#attempts.find(target.name), prepare) : NO_EFFECT;
    };
    const reading = requests.every((request) => this.#onlyReads(request));
    const take = (request: ToolCallRequest) => this.#attempts.takeAfter(request);
    return buildWorkflow(requests, reading ? () => NO_EFFECT : effect, this.#ordering ? take : undefined);
  }

  /** The outcomes come in the order of the calls. */
  run(workflow: ToolCallWorkflow, options: RunOptions): AsyncGenerator<ToolCallOutcome, void, void> {
    const runCall = (request: ToolCallRequest, signal: AbortSignal) =>
      this.#runCall(request, signal === options.signal ? options : { ...options, signal });
    return runStages(workflow, runCall, options);
  }

  /** A batch that cannot be ordered gives every call the same error. */
  orderAndRun(requests: readonly ToolCallRequest[], options: RunOptions): AsyncGenerator<ToolCallOutcome, void, void> {
    let workflow: ToolCallWorkflow;
    try {
      workflow = this.order(requests);
    } catch (error) {
      return refuseAll(requests, error, options);
    }
    return this.run(workflow, options);
  }

  /** Nothing that only reads is in the way of another that does, whatever the two touch. */
  #onlyReads(request: ToolCallRequest): boolean {
    const target = this.#targetOf(request);
    return target === undefined || (this.#attempts.find(target.name)?.metadata.capabilities.readOnly ?? true);
  }

  /** Undefined for a call that is refused when its turn comes. */
  #targetOf(request: ToolCallRequest): ToolCallRequest | undefined {
    try {
      return this.#attempts.target(request).request;
    } catch {
      return undefined;
    }
  }

  /** Begins at once where nobody has to be asked. */
  #runCall(given: ToolCallRequest, options: RunOptions): ToolCallOutcome | Promise<ToolCallOutcome> {
    const refused = (error: unknown) => failedOutcome(given, toToolError(error, given.name));
    let target: ReturnType<Attempts["target"]>;
    try {
      target = this.#attempts.target(given);
    } catch (error) {
      return refused(error);
    }
    const { request, passed } = target;
    const run = () => {
      this.#offer.touch(request.name);
      const outcome = this.#attempts.withRetry(request, options);
      return passed ? outcome.then(passed) : outcome;
    };
    if (!options.offeredOnly) return run();
    const check = () => (passed ? this.#offer.checkListed(request.name) : this.#offer.check(request.name));
    try {
      const asking = this.#access.assert(request.name);
      if (asking) return asking.then(check).then(run, refused);
      check();
    } catch (error) {
      return refused(error);
    }
    return run();
  }
}
