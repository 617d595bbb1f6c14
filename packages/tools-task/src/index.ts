export { type TodoInput, type TodoItem, type TodoStatus, todoTool } from "./todo.js";
