/** Lists files faster than a walk can, where they lie in a real folder. What it lists is looked at all the same. */
export interface FileFinder {
  /**
   * The files below a folder that may have one of `texts` in them (any file where there are none), relative to the root,
   * in any order. Undefined where it cannot tell.
   */
  files(request: {
    folder: string;
    texts: readonly string[];
    ignoreCase: boolean;
    hidden: boolean;
    signal: AbortSignal;
  }): Promise<readonly string[] | undefined>;
}
