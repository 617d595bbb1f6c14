import type { ModelRequest } from "@shedkit/provider";
import { ChatTemplate, type ChatTemplateOptions } from "../chat-template.js";
import { CHATML, familyOf } from "../families.js";
import type { TextToolFamily } from "../family.js";

/** A model's way to be talked to. */
export interface ModelTalk {
  template: ChatTemplate;
  family: TextToolFamily;
}

/** The sources of a model's chat templates. */
interface TemplateSources {
  /** Default: ChatML. */
  usual?: string | undefined;
  /** For conversations with tools, of models that have one of its own for them. Default: the usual one. */
  withTools?: string | undefined;
}

/** A model's chat templates, each read when it is first wanted. */
export class ModelTemplates {
  readonly #sources: TemplateSources;
  readonly #options: ChatTemplateOptions;
  readonly #read = new Map<string, ModelTalk>();

  constructor(sources: TemplateSources, options: ChatTemplateOptions) {
    this.#sources = sources;
    this.#options = options;
  }

  /** For a request's conversation. Throws AgenticError `provider` where the template cannot be read. */
  of({ tools }: ModelRequest): ModelTalk {
    const { usual = CHATML, withTools = usual } = this.#sources;
    const source = tools.shed !== undefined || tools.tools.length > 0 ? withTools : usual;
    let talk = this.#read.get(source);
    if (!talk) {
      const template = new ChatTemplate(source, this.#options);
      talk = { template, family: familyOf(template) };
      this.#read.set(source, talk);
    }
    return talk;
  }
}
