// Style sheets are imported for their effect: esbuild collects them.
declare module '*.css';
