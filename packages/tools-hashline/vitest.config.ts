import { shared } from "../../vitest.base.js";

export default shared;
