/** A model as people know it: the vendor stands before it only where it is known. */
export const modelName = (id: string): string => id.replace(/^unknown:/, "");

/** Models to suggest where one is typed; any other may be. */
export const MODELS = ["gpt-4o", "gpt-5", "claude-sonnet-4-5", "claude-opus-4-1", "gemini-2.5-pro", "gemini-2.5-flash"];
