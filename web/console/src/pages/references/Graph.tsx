import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import { dateTime, nameOf, short } from "../../ui/format";
import { Icon, type IconName } from "../../ui/icons";
import { t } from "../../words";
import styles from "./Graph.module.css";
import { layoutOf, size } from "./layout";
import type { Network, Node } from "./network";
import { isArrow, walk } from "./walk";

const icons: Record<Node["kind"], IconName> = {
  message: "threads",
  ACCOUNTANT: "records",
  SECRETARY: "key",
  absent: "unchecked",
};

/** Where a node leads: a message into the middle, a record to its own page; null if it is not in this log. */
function leadsTo({ kind, hash }: Node): string | null {
  if (kind === "absent") return null;
  return kind === "message" ? `/messages/${hash}/references?view=graph` : `/records/${hash}`;
}

/** What a node is called on the screen. */
function titleOf(node: Node): string {
  const { kind, sequence, owner, title, hash } = node;
  if (kind === "message" && owner) return t("references.node.message", { n: String(sequence), name: nameOf(owner) });
  return title ?? short(hash);
}

// All that a reader by ear needs of a node: what it is, when, and how it stands to the middle.
function nameOfNode(node: Node): string {
  const where = node.step === 0 ? "middle" : node.step === 2 ? "further" : node.side;
  const values = { title: titleOf(node), kind: t(`references.kind.${node.kind}`), where };
  return node.at ? t("references.node", { ...values, when: dateTime(node.at) }) : t("references.node.undated", values);
}

/**
 * A message among what it was sent with and what was sent with it. Arrows walk, Home leads to the middle, Enter puts a
 * message there. It stands still from the beginning: the layout is done before it is drawn.
 */
export default function Graph({ network, note }: { network: Network; note: string }) {
  const { nodes, edges } = network;
  const layout = useMemo(() => layoutOf({ nodes, edges }), [nodes, edges]);
  const middle = nodes[0]?.hash ?? "";
  const [at, setAt] = useState(middle);
  const [, navigate] = useLocation();
  const box = useRef<HTMLElement>(null);

  // Who walked here goes on walking; who came by another way keeps their focus, and sees the middle.
  useEffect(() => {
    const node = box.current?.querySelector<HTMLElement>("[data-step='0']");
    if (!box.current || !node) return;
    box.current.scrollTo(
      node.offsetLeft - box.current.clientWidth / 2 + size.width / 2,
      node.offsetTop - box.current.clientHeight / 2 + size.height / 2,
    );
    const walked = (window.history.state as { walked?: boolean } | null)?.walked === true;
    if (!walked) return;
    const frame = requestAnimationFrame(() => node.focus()); // after the page took the focus for itself
    return () => cancelAnimationFrame(frame);
  }, []);

  const focus = (hash: string) => {
    setAt(hash);
    box.current?.querySelector<HTMLElement>(`[data-hash="${hash}"]`)?.focus();
  };
  const go = (node: Node) => {
    const to = leadsTo(node);
    if (to) navigate(to, { state: { walked: true } });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = event.key === "Home" ? middle : isArrow(event.key) ? walk(at, event.key, layout.places, edges) : null;
    if (!isArrow(event.key) && event.key !== "Home") return;
    event.preventDefault(); // the box scrolls along with the focus
    event.stopPropagation();
    if (next) focus(next);
  };
  return (
    <section
      ref={box}
      className={styles.box}
      aria-label={t("references.graph.name", { n: nodes.length })}
      aria-describedby="graph-keys"
      onKeyDown={onKeyDown}
    >
      <p id="graph-keys" className={styles.keys}>
        {t("references.graph.keys")} {note}
      </p>
      <div className={styles.field} style={{ width: layout.width, height: layout.height }}>
        <Lines network={network} layout={layout} />
        <ul>
          {nodes.map((node) => {
            const { x, y } = layout.places.get(node.hash) ?? { x: 0, y: 0 };
            return (
              <li
                key={node.hash}
                className={styles.place}
                style={{ left: x - size.width / 2, top: y - size.height / 2 }}
              >
                <NodeLink
                  node={node}
                  current={node.hash === at}
                  onFocus={() => setAt(node.hash)}
                  onGo={() => go(node)}
                />
              </li>
            );
          })}
        </ul>
      </div>
    </section>
  );
}

type NodeProps = { node: Node; current: boolean; onFocus: () => void; onGo: () => void };

function NodeLink({ node, current, onFocus, onGo }: NodeProps) {
  const to = leadsTo(node);
  const props = {
    className: styles.node,
    "data-step": node.step,
    "data-hash": node.hash,
    "data-kind": node.kind,
    "aria-label": nameOfNode(node),
    "aria-current": node.step === 0 ? ("true" as const) : undefined,
    title: nameOfNode(node),
    tabIndex: current ? 0 : -1,
    onFocus,
  };
  const inside = (
    <>
      <Icon name={icons[node.kind]} />
      <span className={styles.title} dir="auto">
        {titleOf(node)}
      </span>
    </>
  );
  if (!to)
    return (
      <button type="button" aria-disabled="true" {...props}>
        {inside}
      </button>
    );
  return (
    <a
      href={to}
      {...props}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a tab of its own
        event.preventDefault();
        onGo();
      }}
    >
      {inside}
    </a>
  );
}

type LinesProps = { network: Network; layout: ReturnType<typeof layoutOf> };

// From what was sent to what it was sent with, with an arrow there. Each node says the same in words.
function Lines({ network: { edges }, layout: { places, width, height } }: LinesProps) {
  return (
    <svg className={styles.lines} width={width} height={height} aria-hidden="true">
      <defs>
        <marker id="sent-with" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0 0.5L8 4L0 7.5z" />
        </marker>
      </defs>
      {edges.map((e) => {
        const [a, b] = [places.get(e.from), places.get(e.to)];
        if (!a || !b) return null;
        const ends = between(a, b);
        return <line key={`${e.from}${e.to}`} {...ends} markerEnd="url(#sent-with)" />;
      })}
    </svg>
  );
}

// The line from the edge of one node to that of another.
function between(a: { x: number; y: number }, b: { x: number; y: number }) {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const part = Math.min(0.5, 1 / Math.max(Math.abs(dx) / (size.width / 2), Math.abs(dy) / (size.height / 2), 1e-6));
  return { x1: a.x + dx * part, y1: a.y + dy * part, x2: b.x - dx * part, y2: b.y - dy * part };
}
