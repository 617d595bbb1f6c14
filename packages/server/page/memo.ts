import { Component, createElement, type FunctionComponent } from "preact";

/** A component that is drawn again only where a property is another one. */
export function memo<P extends object>(draw: FunctionComponent<P>): FunctionComponent<P> {
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const now = this.props as Record<string, unknown>;
      return Object.entries(next).some(([name, value]) => now[name] !== value);
    }

    override render() {
      return createElement(draw, this.props as never);
    }
  }
  return Memo as unknown as FunctionComponent<P>;
}
