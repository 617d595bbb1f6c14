import { AgenticError, addUsage, noUsage, type SessionId, type Usage } from "@shedkit/types";

/** Who may do what. All of it is enforced; a method that rejects forbids. */
export interface SessionAccessProvider {
  canAccessSession(user: string, session: SessionId): Promise<boolean>;
  /** The primary, each fallback and the memory model, and a turn's own. */
  canUseModel(user: string, model: string): Promise<boolean>;
  /** Also decides what `shed` may return. */
  canUseTool(user: string, tool: string): Promise<boolean>;
  /** Asked before each request with the tokens that it will take, as far as they can be told. */
  canSpend(user: string, tokens: number): Promise<boolean>;
  /** Told after each request. */
  recordUsage(user: string, usage: Usage): Promise<void>;
  /** The tokens that the user has left for this session; undefined for no limit. */
  tokenBudget(user: string): Promise<number | undefined>;
}

/** The same provider, whose failures say whose they are: AgenticError `session`, with what was thrown as its cause. */
export function named(access: SessionAccessProvider): SessionAccessProvider {
  const asked = async <T>(method: string, ask: () => Promise<T>): Promise<T> => {
    try {
      return await ask();
    } catch (cause) {
      const text = cause instanceof Error ? cause.message : String(cause);
      const message = `The access provider could not be asked (${method}): ${text}`;
      throw new AgenticError("session", message, { reason: "access provider failed" }, { cause });
    }
  };
  return {
    canAccessSession: (user, session) => asked("canAccessSession", () => access.canAccessSession(user, session)),
    canUseModel: (user, model) => asked("canUseModel", () => access.canUseModel(user, model)),
    canUseTool: (user, tool) => asked("canUseTool", () => access.canUseTool(user, tool)),
    canSpend: (user, tokens) => asked("canSpend", () => access.canSpend(user, tokens)),
    recordUsage: (user, usage) => asked("recordUsage", () => access.recordUsage(user, usage)),
    tokenBudget: (user) => asked("tokenBudget", () => access.tokenBudget(user)),
  };
}

/** The user of a session that names none. */
export const LOCAL_USER = "local";

/** One session's spending: what it may spend, and what it has spent since it was built. */
export class Spending {
  readonly #access: SessionAccessProvider | undefined;
  readonly #user: string;
  #budget: number | undefined;
  #spent: Usage = noUsage;

  private constructor(access: SessionAccessProvider | undefined, user: string, budget: number | undefined) {
    this.#access = access;
    this.#user = user;
    this.#budget = budget;
  }

  static async open(access: SessionAccessProvider | undefined, user: string): Promise<Spending> {
    return new Spending(access, user, await access?.tokenBudget(user));
  }

  /** All that may be spent; undefined for no limit. */
  get budget(): number | undefined {
    return this.#budget;
  }

  /** Tokens left; undefined for no limit. */
  get remaining(): number | undefined {
    return this.#budget === undefined ? undefined : Math.max(0, this.#budget - this.#spent.total);
  }

  /** Whether anything of it can be refused. */
  get limited(): boolean {
    return this.#access !== undefined || this.#budget !== undefined;
  }

  /** A budget that was used up may have been raised since. */
  async refresh(): Promise<void> {
    if (this.remaining !== 0) return;
    const budget = await this.#access?.tokenBudget(this.#user);
    if (budget === this.#budget) return;
    this.#budget = budget;
    this.#spent = noUsage;
  }

  /** Throws AgenticError `session` where the user may not use the model. */
  async checkModel(model: string): Promise<void> {
    if (!this.#access || (await this.#access.canUseModel(this.#user, model))) return;
    throw new AgenticError("session", `The user "${this.#user}" may not use the model "${model}".`, {
      reason: "model not allowed",
    });
  }

  /** Throws AgenticError `budgetExhausted` where a request of so many tokens may not be sent. */
  async checkRequest(tokens: number): Promise<void> {
    const why =
      this.remaining === 0
        ? `The budget of ${this.#budget} tokens is used up. Raise it and go on.`
        : this.#access && !(await this.#access.canSpend(this.#user, tokens))
          ? `The user "${this.#user}" may not spend ${tokens} more tokens.`
          : undefined;
    if (why !== undefined) throw new AgenticError("budgetExhausted", why, { usage: this.#spent });
  }

  /** Undefined where nobody is told. */
  record(usage: Usage): Promise<void> | undefined {
    this.#spent = addUsage(this.#spent, usage);
    return this.#access?.recordUsage(this.#user, usage);
  }
}
