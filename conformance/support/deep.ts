/** Import it before a suite: `scaled` in `scale.ts` then returns full sizes. */
process.env['WEIR_DEEP'] = '1';
