import type * as facts from '../call/call.ts';

/** All facts that the stages gather, for closers that look at whatever is there. */
export type CallFacts = facts.Begun &
  facts.Chained &
  facts.Decoded &
  facts.ArgumentsRead &
  facts.Opened &
  facts.Based &
  facts.Resolved &
  facts.ArgumentsChecked &
  facts.Leased &
  facts.Permitted &
  facts.OrganisationRead &
  facts.ModeRead &
  facts.Judged &
  facts.LoopChecked &
  facts.KeyHeld &
  facts.ReuseChecked &
  facts.WithinLimits &
  facts.Consented &
  facts.TurnTaken &
  facts.Intended &
  facts.Confirmed &
  facts.Executed &
  facts.Delivered;
