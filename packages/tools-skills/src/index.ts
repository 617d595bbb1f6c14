export { type SkillInput, type SkillOutput, type SkillParams, skillReminder, skillTool } from "./skill-tool.js";
export { type Skill, type SkillProblem, type SkillScope, Skills } from "./skills.js";
