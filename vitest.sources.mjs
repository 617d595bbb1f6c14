// Preloaded into the child processes of tests: they run the sources, as the tests themselves do.
import { registerHooks } from "node:module";

registerHooks({
  resolve(specifier, context, next) {
    try {
      return next(specifier, context);
    } catch (error) {
      if (error.code === "ERR_MODULE_NOT_FOUND" && specifier.startsWith(".") && specifier.endsWith(".js")) {
        return next(specifier.replace(/\.js$/, ".ts"), context);
      }
      throw error;
    }
  },
});
