/**
 * How often to try, or how much to load: a size that every run can afford, and the full one, which `npm test -- --long`
 * takes. The small size must still fail when the behaviour is broken outright; the full one finds what is rare.
 */
export function howMuch({ usually, long }: { readonly usually: number; readonly long: number }): number {
  return process.env['SALLYPORT_LONG_TESTS'] ? long : usually;
}
