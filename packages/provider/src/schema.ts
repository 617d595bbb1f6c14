export {
  type CompiledOutput,
  type CompiledTool,
  compileOutput,
  type SchemaDialect,
  schemaDialects,
  ToolCompiler,
} from "./schema/compile.js";
