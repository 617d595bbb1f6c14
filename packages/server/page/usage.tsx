import type { Usage } from "@shedkit/types";
import { useEffect, useState } from "preact/hooks";
import { api, type TurnCost } from "./api.js";

const WIDTH = 300;
const HEIGHT = 140;
/** The newest turns that the chart has room for. */
const BARS = 40;

const PARTS = [
  { name: "cached", of: (usage: Usage) => usage.cacheRead },
  { name: "input", of: (usage: Usage) => usage.input + usage.cacheWrite },
  { name: "output", of: (usage: Usage) => usage.output },
] as const;

/** Tokens and dollars over the turns. */
export function Costs({ session, records }: { session: string; records: number }) {
  const [costs, setCosts] = useState<{ turns: TurnCost[]; total: Usage }>();
  useEffect(() => {
    api.usage(session).then(setCosts, () => undefined);
  }, [session, records]);
  if (!costs) return null;
  const { turns, total } = costs;
  const sent = total.input + total.cacheRead + total.cacheWrite;
  return (
    <>
      <h2>Tokens over the turns</h2>
      <dl class="totals">
        <div>
          <dt>Sent</dt>
          <dd>{sent.toLocaleString()}</dd>
        </div>
        <div>
          <dt>From the cache</dt>
          <dd>{sent === 0 ? "–" : `${Math.round((100 * total.cacheRead) / sent)} %`}</dd>
        </div>
        <div>
          <dt>Written</dt>
          <dd>{total.output.toLocaleString()}</dd>
        </div>
        <div>
          <dt>Cost</dt>
          <dd>{dollars(total)}</dd>
        </div>
      </dl>
      {turns.length > 0 && <Chart turns={turns.slice(-BARS)} />}
      {turns.length > 0 && <Table turns={turns} />}
    </>
  );
}

function Chart({ turns }: { turns: readonly TurnCost[] }) {
  const most = Math.max(1, ...turns.map(({ usage }) => PARTS.reduce((sum, part) => sum + part.of(usage), 0)));
  const slot = WIDTH / Math.max(turns.length, 8);
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`Tokens of ${turns.length} turns, at most ${most} in one`}
      >
        {[0.25, 0.5, 0.75, 1].map((part) => (
          <line key={part} class="grid" x1="0" x2={WIDTH} y1={HEIGHT * (1 - part)} y2={HEIGHT * (1 - part)} />
        ))}
        {turns.map(({ turnId, usage, model }, i) => {
          let top = HEIGHT;
          return (
            <g key={turnId}>
              <title>{`${model}: ${PARTS.map((part) => `${part.of(usage).toLocaleString()} ${part.name}`).join(", ")}`}</title>
              {PARTS.map((part) => {
                const height = (part.of(usage) / most) * HEIGHT;
                top -= height;
                return (
                  <rect
                    key={part.name}
                    class={part.name}
                    x={i * slot + slot * 0.12}
                    y={top}
                    width={slot * 0.76}
                    height={height}
                  />
                );
              })}
            </g>
          );
        })}
      </svg>
      <figcaption>
        {PARTS.map(({ name }) => (
          <span key={name} class={`key ${name}`}>
            {name}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

function Table({ turns }: { turns: readonly TurnCost[] }) {
  return (
    <details>
      <summary>As a table</summary>
      <table class="costs">
        <thead>
          <tr>
            <th scope="col">Turn</th>
            {PARTS.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            <th scope="col">cost</th>
          </tr>
        </thead>
        <tbody>
          {turns.map(({ turnId, usage }, i) => (
            <tr key={turnId}>
              <th scope="row">{i + 1}</th>
              {PARTS.map((part) => (
                <td key={part.name}>{part.of(usage).toLocaleString()}</td>
              ))}
              <td>{dollars(usage)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function dollars({ costUsd }: Usage): string {
  return costUsd === undefined ? "–" : `$${costUsd.toFixed(costUsd < 1 ? 4 : 2)}`;
}
