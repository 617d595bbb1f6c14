/** Two ways of editing that do not go together: a model would take the anchors of one tool for the text of the other. */
export const BUNDLE = "file-toolset";

/** The tools of the other way, by their full ids. */
export const STANDARD_TOOLS = ["files:read", "files:edit", "search:search_file"];
