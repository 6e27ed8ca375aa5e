/** How the editor reads the schemas of settings: as every form does. */
export { fieldsOf, spoken, type Field, type Schema } from "../../parts/schema";
