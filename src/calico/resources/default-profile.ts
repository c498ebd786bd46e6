// The profile that is always there, whatever etcd holds under its name: read, it is always what it is; listed, it is last.
import { defaultAllow, defaultAllowProfile } from "./forms/profile-view.ts";
import type { Home } from "./homes/home.ts";

export function withDefaultAllow(home: Home): Home {
  const isDefault = (name: string | undefined) => name === defaultAllowProfile;
  return {
    get: async (id, call) => (isDefault(id.name) ? defaultAllow : await home.get(id, call)),
    list: async (call) => {
      const { items, ...rest } = await home.list(call);
      const others = items.filter(({ metadata }) => !isDefault(metadata.name));
      const isWithin = defaultAllowProfile.startsWith(call.within?.namePrefix ?? "");
      return { ...rest, items: isWithin ? [...others, defaultAllow] : others };
    },
    watch: (call) => home.watch(call),
    create: (object, call) => home.create(object, call),
    update: (object, call) => home.update(object, call),
    updateStatus: (object, call) => home.updateStatus(object, call),
    edit: (id, change, call) => home.edit(id, (current) => change(isDefault(id.name) ? defaultAllow : current), call),
    delete: (id, call) => home.delete(id, call),
  };
}
