import type { ContentPart } from "@shedkit/types";

/** An image that stands in the log itself; others are not loaded. */
export interface LogImage {
  name: string;
  url: string;
}

const SHOWN = /^image\/(?:png|jpeg|gif|webp)$/;

/** The images of a message that can be shown without asking anybody for them. */
export function imagesOf(content: readonly ContentPart[]): LogImage[] {
  return content.flatMap((part) => {
    if (part.type !== "image" || part.source.type !== "base64" || !SHOWN.test(part.mediaType)) return [];
    return [{ name: part.name ?? "image", url: `data:${part.mediaType};base64,${part.source.data}` }];
  });
}

export function Images({ images }: { images: readonly LogImage[] }) {
  if (images.length === 0) return null;
  return (
    <p class="images">
      {images.map(({ name, url }) => (
        <img key={name} src={url} alt={name} />
      ))}
    </p>
  );
}
