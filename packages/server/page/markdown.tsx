import { lexer, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { memo } from "./memo.js";

/**
 * Markdown as elements, made of its tokens: what a model writes never becomes HTML, links go to the web alone, and
 * images are not loaded but named.
 */
export const Markdown = memo(({ text }: { text: string }) => <div class="prose">{blocks(lexer(text))}</div>);

/** The same for a text that grows: its finished blocks are read once. */
export function GrowingMarkdown({ text }: { text: string }) {
  const read = useRef<{ text: string; tokens: Token[] }>({ text: "", tokens: [] });
  const whole = text.replace(/\r\n?/g, "\n");
  if (!whole.startsWith(read.current.text)) read.current = { text: "", tokens: [] };
  const { current } = read;
  const rest = [...lexer(whole.slice(current.text.length))];
  const all = [...current.tokens, ...rest];
  // The last block may go on, and a line of its own may still belong to the one before it.
  for (const token of rest.slice(0, -2)) {
    if (!whole.startsWith(token.raw, current.text.length)) break;
    current.tokens.push(token);
    current.text += token.raw;
  }
  return <div class="prose">{blocks(all)}</div>;
}

function blocks(tokens: readonly Token[]): ComponentChildren {
  return tokens.map((token, i) => <Block key={i} token={token} />);
}

const Block = memo(drawBlock);

function drawBlock({ token }: { token: Token }) {
  switch (token.type) {
    case "heading": {
      // The first level is the page's own.
      const Heading = `h${Math.min(6, (token as Tokens.Heading).depth + 1)}` as "h2";
      return <Heading>{inline(token.tokens)}</Heading>;
    }
    case "paragraph":
      return <p>{inline(token.tokens)}</p>;
    case "code": {
      const { lang, text } = token as Tokens.Code;
      return <Code text={text} language={lang} />;
    }
    case "blockquote":
      return <blockquote>{blocks(token.tokens ?? [])}</blockquote>;
    case "list": {
      const { ordered, start, items } = token as Tokens.List;
      const children = items.map((item, i) => (
        <li key={i}>
          {item.task && <input type="checkbox" disabled checked={item.checked === true} aria-label="done" />}
          {blocks(item.tokens)}
        </li>
      ));
      return ordered ? <ol start={start === "" ? 1 : start}>{children}</ol> : <ul>{children}</ul>;
    }
    case "table":
      return <Table token={token as Tokens.Table} />;
    case "hr":
      return <hr />;
    case "text":
      return <>{token.tokens ? inline(token.tokens) : decoded(token.text)}</>;
    case "html":
      return <p>{token.raw}</p>;
    default:
      return null;
  }
}

function Code({ text, language }: { text: string; language: string | undefined }) {
  return (
    <figure class="code">
      <figcaption>
        <span>{language || "text"}</span>
        <button type="button" class="quiet" onClick={() => void navigator.clipboard?.writeText(text)}>
          Copy
        </button>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}

function Table({ token: { header, rows, align } }: { token: Tokens.Table }) {
  const side = (i: number) => (align[i] ? { style: { textAlign: align[i] } } : {});
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <div class="scroll" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {header.map((cell, i) => (
              <th key={i} scope="col" {...side(i)}>
                {inline(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => (
                <td key={j} {...side(j)}>
                  {inline(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(tokens: readonly Token[] | undefined): ComponentChildren {
  return tokens?.map((token, i) => <Inline key={i} token={token} />);
}

function Inline({ token }: { token: Token }) {
  switch (token.type) {
    case "strong":
      return <strong>{inline(token.tokens)}</strong>;
    case "em":
      return <em>{inline(token.tokens)}</em>;
    case "del":
      return <del>{inline(token.tokens)}</del>;
    case "codespan":
      return <code>{token.text}</code>;
    case "br":
      return <br />;
    case "link": {
      const { href } = token as Tokens.Link;
      if (!/^(?:https?|mailto):/i.test(href)) return <>{inline(token.tokens)}</>;
      return (
        <a href={href} target="_blank" rel="noopener noreferrer">
          {inline(token.tokens)}
        </a>
      );
    }
    case "image":
      return <span class="dim">[image: {decoded(token.text) || "without a name"}]</span>;
    case "html":
      return <>{token.raw}</>;
    default:
      if (token.type === "text" && token.tokens) return <>{inline(token.tokens)}</>;
      return <>{decoded("text" in token ? token.text : token.raw)}</>;
  }
}

const ENTITIES: { readonly [name: string]: string } = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
};

/** The references of HTML that Markdown allows, the common ones. */
function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,6})|#x([\da-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
