// Users of the machine that a container's users are, where the agent is root: root of the container is the user of tasks, the others
// are users without a name, that own nothing on the machine.

/** Far from the users that systems, people and their containers have. */
export const containerUids = { first: 1_900_000_000, count: 65_536 };
