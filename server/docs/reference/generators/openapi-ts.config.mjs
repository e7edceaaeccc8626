// The client checks nothing by itself; `zod.gen.ts` has a schema of each body and answer.
export default {
  input: "./openapi.sdk.json",
  output: "client",
  plugins: ["@hey-api/client-fetch", "@hey-api/sdk", "zod"],
};
