import { tinyChatTemplate } from "@shedkit/testing";

/** Of a very small model, which is told of each tool only its name and what it must be given. */
export const signatureTemplate: string = tinyChatTemplate.replace(
  "+ (tool | tojson) -}}",
  '+ tool.function.name -}}{%- for p in tool.function.parameters.properties or {} -%}{{- " " + p -}}{%- endfor -%}',
);
