/** The name of a key, `ann/laptop`. Each half keeps its own direction, so that names from right to left stay in order. */
export function KeyName({ user, name }: { readonly user: string; readonly name: string }) {
  return (
    <>
      <bdi>{user}</bdi>/<bdi>{name}</bdi>
    </>
  );
}
