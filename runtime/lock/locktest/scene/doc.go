// Package scene has what the worlds of locktest begin with: actors in an ownership graph and a sequencing tree, hosts or stores, and what events do. Scenes are drawn from
// seeds.
package scene
