/** A template that cannot be read or filled in. */
export class TemplateFault extends Error {
  override readonly name = "TemplateFault";
}
