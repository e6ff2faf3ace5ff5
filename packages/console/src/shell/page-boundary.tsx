import { Component } from 'react';
import type { ReactNode } from 'react';
import { Problem } from './parts.tsx';

/** A page that fails says so, and takes nothing else with it. */
export class PageBoundary extends Component<{ readonly children: ReactNode }, { readonly isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError(): { readonly isBroken: boolean } {
    return { isBroken: true };
  }

  override render(): ReactNode {
    if (!this.state.isBroken) return this.props.children;
    const trouble = { message: 'This page failed.', remedy: 'The others still work. The command line shows the same.' };
    return <Problem trouble={trouble} onRetry={() => this.setState({ isBroken: false })} />;
  }
}
