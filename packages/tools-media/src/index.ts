export type { GeneratedImage, ImageClient, ImageRequest, VideoClient, VideoJob, VideoRequest } from "./client.js";
export type { MediaEndpoint } from "./endpoint.js";
export { type ImageGenInput, type ImageGenOutput, type ImageGenParams, imageGenTool } from "./image-gen.js";
export { type MediaToolsOptions, mediaTools } from "./media-tools.js";
export { openAIImages } from "./openai-images.js";
export { type OpenAIVideosOptions, openAIVideos } from "./openai-videos.js";
export { type VideoParams, videoTool } from "./video.js";
