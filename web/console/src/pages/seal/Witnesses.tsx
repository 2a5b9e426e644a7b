import { count, plural } from "../../ui/format";
import { Icon } from "../../ui/icons";
import { Time } from "../../ui/Time";
import type { Seal } from "./query";
import styles from "./SealPage.module.css";

/** Who is asked to cosign, and how far each has. sealed: size of the newest checkpoint. */
export function Witnesses({ witnesses, sealed }: { witnesses: Seal["witnesses"]; sealed: number }) {
  return (
    <section className={styles.section} aria-labelledby="witnesses">
      <h2 id="witnesses">Witnesses</h2>
      {witnesses.length === 0 ? (
        <p className={styles.none}>
          None: nobody but this server says that there is only one history. <code>WITNESSES</code> names some;{" "}
          <code>go run . witness</code> is one.
        </p>
      ) : (
        <ul className={styles.list}>
          {witnesses.map((w) => (
            <li key={w.name}>
              <Icon name={w.problem ? "broken" : w.size === null ? "unchecked" : "witnessed"} />
              <span className={styles.grow}>
                <b>{w.name}</b>
                <br />
                <span className={styles.none}>{w.url}</span>
                {w.problem && (
                  <>
                    <br />
                    <span className={styles.wrong}>does not cosign: {w.problem}</span>
                  </>
                )}
              </span>
              <span>
                {w.size === null
                  ? "has cosigned nothing yet"
                  : `cosigned ${plural(w.size, "message")}${w.size < sealed ? `, ${count(sealed - w.size)} behind` : ""}`}
                {w.signedAt && (
                  <>
                    <br />
                    <Time at={w.signedAt} />
                  </>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
